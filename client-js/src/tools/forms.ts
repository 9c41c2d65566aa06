import * as declarations from "./declarations.gen.ts";
import { refused } from "./refusal.ts";

/** Options of {@link fillForm}. */
export interface FillFormOptions {
  /** CSS selectors of the forms, or parts of them, that the agent may fill in. */
  readonly forms: readonly string[];
  /** The labels of the only fields that it may fill in. By default all that the user sees in these forms. */
  readonly fields?: readonly string[];
  /** Whether fields for passwords are among them. By default they are not. */
  readonly passwords?: boolean;
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
type Value = declarations.FillFormArgs["fields"][number]["value"];

/** What `fill_form` knows by a label: a control, or the radio buttons of a group. */
interface Field {
  readonly label: string;
  readonly controls: [Control, ...Control[]];
}

const NOT_FILLED = ["button", "file", "hidden", "image", "reset", "submit"];

/**
 * `fill_form`: the agent fills in fields of a form by their labels. The page's own code hears of it as of the user's typing;
 * to submit the form is left to the user.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const fillForm = (options: FillFormOptions) =>
  declarations.fill_form.implement(({ fields: wanted }) => {
    const known = fieldsOf(options);
    // First what may fail, for all of them; then nothing does.
    const writes = wanted.map(({ label, value }) => {
      const [field, ...others] = known.filter((each) => comparable(each.label) === comparable(label));
      const labels = known.map((each) => JSON.stringify(each.label)).join(", ");
      if (!field) throw misfit(label, `one of the fields ${labels}`);
      if (others.length > 0) throw misfit(label, "only one field of that name");
      return { field, write: writing(field, value) };
    });
    for (const { write } of writes) write();
    const invalid = writes.flatMap(({ field: { label, controls } }) => {
      const message = controls.find((control) => control.validationMessage)?.validationMessage;
      return message ? [{ label, message }] : [];
    });
    return { filled: writes.map(({ field }) => field.label), invalid };
  });

function fieldsOf({ forms, fields, passwords = false }: FillFormOptions): Field[] {
  const found: (Field & { readonly group: Element | null })[] = [];
  for (const control of document.querySelectorAll<Control>("input, textarea, select")) {
    if (!forms.some((form) => control.closest(form)) || !isForFilling(control, passwords)) continue;
    const { type, name } = control;
    const group = type === "radio" ? control.closest("fieldset, [role=radiogroup]") : null;
    const same = found.find((each) => group && each.group === group && each.controls[0].name === name);
    const label = group ? groupLabel(group) : labelOf(control);
    if (same) same.controls.push(control);
    else if (label) found.push({ label, group, controls: [control] });
  }
  const allowed = fields?.map(comparable);
  return found.filter(({ label }) => allowed?.includes(comparable(label)) ?? true);
}

function isForFilling(control: Control, passwords: boolean): boolean {
  const { type } = control;
  if (NOT_FILLED.includes(type) || (type === "password" && !passwords)) return false;
  const isFixed = control.matches(":disabled") || ("readOnly" in control && control.readOnly);
  return !isFixed && isSeen(control);
}

/** Whether the user sees a control, or the label of one that is transparent for the sake of its looks. */
function isSeen(control: Control): boolean {
  const isBox = control.type === "checkbox" || control.type === "radio";
  const options = { visibilityProperty: true, opacityProperty: true };
  return (
    (control.checkVisibility?.() ?? true) &&
    [control, ...(isBox ? (control.labels ?? []) : [])].some(
      (each) => each.checkVisibility?.(options) ?? true,
    )
  );
}

/** What will write a value into a field, once it is sure that the field takes it. */
function writing({ label, controls }: Field, value: Value): () => void {
  const [control] = controls;
  const { type } = control;
  const text = String(value);
  if (type === "radio") {
    const choice = controls.find(
      (each) => isNamed(value, labelOf(each), each.value) || (value === true && labelOf(each) === label),
    );
    if (!choice) throw misfit(label, `one of ${controls.map(labelOf).join(", ")}`, value);
    return () => choice.click();
  }
  if (type === "checkbox") {
    if (typeof value !== "boolean") throw misfit(label, "true or false", value);
    return () => (control as HTMLInputElement).checked !== value && control.click();
  }
  if (control instanceof HTMLSelectElement) {
    const options = [...control.options].filter((option) => !option.disabled);
    const choice = options.find((option) => isNamed(value, option.text, option.value));
    if (!choice) throw misfit(label, `one of ${options.map((option) => option.text).join(", ")}`, value);
    return () => set(control, choice.value);
  }
  // What a browser makes of a text in a field of that kind: of a date that is none, nothing.
  const probe = control.cloneNode() as typeof control;
  probe.value = text;
  if (probe.value.replace(/\r\n?/g, "\n") !== text.replace(/\r\n?/g, "\n")) {
    throw misfit(label, `what fits a field of type ${type}`, value);
  }
  if (control.maxLength >= 0 && text.length > control.maxLength) {
    throw misfit(label, `at most ${control.maxLength} characters`, text.length);
  }
  return () => set(control, text);
}

/** Sets a value as a user does: frameworks put a property of their own over the element's. */
function set(control: Control, value: string): void {
  let prototype = control;
  do prototype = Object.getPrototypeOf(prototype);
  while (!Object.hasOwn(prototype, "value"));
  Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(control, value);
  for (const type of ["input", "change"]) control.dispatchEvent(new Event(type, { bubbles: true }));
}

/** A control's label as the user reads it. */
function labelOf(control: Control): string {
  const ids = control.getAttribute("aria-labelledby")?.split(/\s+/) ?? [];
  const elements = [...ids.map((id) => document.getElementById(id)), ...(control.labels ?? [])];
  return (
    textOf(elements.find((element) => element !== null)) || control.getAttribute("aria-label")?.trim() || ""
  );
}

function groupLabel(group: Element): string {
  const id = group.getAttribute("aria-labelledby");
  return textOf(id ? document.getElementById(id) : group.querySelector("legend")) || (group.ariaLabel ?? "");
}

/** The text of a label, without that of a control inside it. */
function textOf(label: Element | null | undefined): string {
  const copy = label?.cloneNode(true) as Element | undefined;
  for (const control of copy?.querySelectorAll("select, textarea, button") ?? []) control.remove();
  return copy?.textContent?.replace(/\s+/g, " ").trim() ?? "";
}

function comparable(label: string): string {
  return label
    .replace(/[\s*:]+$/, "")
    .trim()
    .toLowerCase();
}

function isNamed(value: Value, text: string, itself: string): boolean {
  return value === itself || comparable(String(value)) === comparable(text);
}

function misfit(label: string, expected: string, got?: unknown) {
  const saw = got === undefined ? "" : `, got ${JSON.stringify(got)}`;
  return refused(
    "invalid_args",
    `${JSON.stringify(label)}: expected ${expected}${saw}. Nothing was filled in.`,
  );
}
