// What the types of forms.py must be: this compiles, and each line marked so must not.
import * as tools from "./tools.gen.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>) => {};

type Args = tools.PydanticModelArgs;
same<Args["day"], string>(true);
same<Args["color"], "red" | "blue">(true);
same<Args["pair"], [number, string]>(true);
same<Args["numbers"], number[]>(true);
same<Args["maybe"], number | null>(true);
same<Args["by-name"], { [key: string]: number }>(true);
same<Args["anything"], unknown>(true);
same<tools.DeleteArgs["default"], 1 | "b" | null>(true);
same<NonNullable<tools.DeleteArgs["rest"]>, [string, ...number[]]>(true);
same<tools.DeleteResult, Array<number | null>>(true);
same<tools._2dArgs, Record<string, never>>(true);
same<tools.DeclareArgs, { there: boolean; maybe?: string[] }>(true);

export const all = [
  tools.pydantic_model.implement(async ({ pet, tree }) => {
    if (pet.kind === "cat") pet.lives.toFixed();
    // @ts-expect-error a dog has none
    else pet.lives;
    const deep: string | undefined = tree.children[0]?.children[0]?.name;
    if (deep) return new File([], deep);
    return { mime_type: "image/png", data: new Uint8Array(1), name: undefined };
  }),
  // @ts-expect-error bytes are no text
  tools.pydantic_model.implement(() => ({ mime_type: "image/png", data: "" })),
  tools.delete_.implement(({ json, self, open }) => {
    const inner: tools.DeleteArgs | undefined = self?.self;
    const more: unknown = open?.["b"];
    return [inner === undefined ? 1 : null, Array.isArray(json) ? json.length : Number(more)];
  }),
  tools.declare_.implement(({ maybe = [] }) => ({
    name: maybe.join(),
    children: [{ name: "", children: [] }, { name: "" }],
  })),
  tools._2d.implement(() => "</script>"),
  tools.then.implement(() => ({})),
];
