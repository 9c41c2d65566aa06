import * as declarations from "./declarations.gen.ts";
import { element, showDialog } from "./dialog.ts";
import { refused } from "./refusal.ts";
import { until } from "./waiting.ts";

/** Options of {@link askUser}. */
export interface AskUserOptions {
  /** The text of the button that sends the answers, where the agent gives none. By default "Send". */
  readonly submit?: string;
  /** The text of the button that refuses. By default "Cancel". */
  readonly cancel?: string;
}

/** Until then a click, on its way when the dialog appears, sends nothing. */
const UNREAD_MS = 500;

type Schema = declarations.AskUserArgsAskedField;
type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** A value that is asked for. */
interface Field {
  readonly row: HTMLElement;
  /** The answer; undefined when the user has left it empty. */
  answer(): string | number | boolean | undefined;
}

const INPUT_TYPES: ReadonlyMap<unknown, string> = new Map([
  ["date", "date"],
  ["date-time", "datetime-local"],
  ["email", "email"],
  ["uri", "url"],
]);

/**
 * `ask_user`: the agent asks the user, who answers in a dialog with a small form, or refuses: that is `dismissed`.
 *
 * Permission: none. Click: none. Idempotent: the user is asked again. The page's `--farside-background`, `-color`, `-field`,
 * `-accent`, `-accent-text`, `-color-scheme`, `-font` and `-radius` are the dialog's.
 */
export const askUser = ({ submit = "Send", cancel = "Cancel" }: AskUserOptions = {}) =>
  declarations.ask_user.implement(async (args, { signal }) => {
    const { title, message, form } = args;
    const fields = Object.entries(form.properties).map(([name, schema], at) => {
      return [name, fieldOf(name, schema, form.required.includes(name), `field-${at}`)] as const;
    });
    signal.throwIfAborted();
    let close = () => {};
    try {
      const answered = new Promise<declarations.AskUserResult>((resolve, reject) => {
        const refuse = () => reject(refused("dismissed", "The user has not answered."));
        const onsubmit = (event: Event) => {
          event.preventDefault();
          const answers = fields.map(([name, { answer }]) => [name, answer()] as const);
          resolve({ answers: Object.fromEntries(answers.filter(hasAnswer)) });
        };
        const send = element("button", {
          type: "submit",
          textContent: args.submit ?? submit,
          disabled: true,
        });
        const buttons = element("footer", {}, [
          element("button", { type: "button", textContent: cancel, onclick: refuse }),
          send,
        ]);
        const rows = fields.map(([, { row }]) => row);
        close = showDialog(title, message, element("form", { onsubmit }, [...rows, buttons]), refuse);
        setTimeout(() => Object.assign(send, { disabled: false }), UNREAD_MS);
      });
      return await until(signal, answered);
    } finally {
      close();
    }
  });

function hasAnswer<T>(entry: readonly [string, T | undefined]): entry is readonly [string, T] {
  return entry[1] !== undefined;
}

function fieldOf(name: string, schema: Schema, isRequired: boolean, id: string): Field {
  const control = controlOf(schema);
  const isChecked = schema.type === "boolean";
  const text = schema.title ?? name;
  const label = element("label", { htmlFor: id, textContent: isRequired && !isChecked ? `${text} *` : text });
  Object.assign(control, { id, required: isRequired && !isChecked });
  const parts: Node[] = [label];
  if (isChecked) label.prepend(control);
  if (schema.description) {
    parts.push(element("small", { id: `${id}-more`, textContent: schema.description }));
    control.setAttribute("aria-describedby", `${id}-more`);
  }
  if (!isChecked) parts.push(control);
  return { row: element("div", {}, parts), answer: () => answerOf(control, schema) };
}

function controlOf(schema: Schema): Control {
  const { type, format, enum: texts, minLength, maxLength, minimum, maximum } = schema;
  if (type === "boolean") return element("input", { type: "checkbox", checked: schema.default === true });
  const value = String(schema.default ?? "");
  if (texts) {
    // Nothing is chosen until the user chooses.
    const shown = texts.includes(value) ? texts : ["", ...texts];
    return element(
      "select",
      {},
      shown.map((text) => element("option", { selected: text === value, value: text, textContent: text })),
    );
  }
  if (type !== "string") {
    const step = type === "integer" ? "1" : "any";
    return element("input", { type: "number", step, min: minimum ?? "", max: maximum ?? "", value });
  }
  const lengths = { ...(minLength && { minLength }), ...(maxLength && { maxLength }) };
  if (format === "multiline") return element("textarea", { rows: 4, ...lengths, value });
  return element("input", { type: INPUT_TYPES.get(format) ?? "text", ...lengths, value });
}

function answerOf(control: Control, { type, format }: Schema) {
  const { value } = control;
  if (type === "boolean") return (control as HTMLInputElement).checked;
  if (value === "") return undefined;
  if (type !== "string") return Number(value);
  return format === "date-time" ? new Date(value).toISOString() : value;
}
