export { createPrompt, type Prompt, type PromptOptions } from "./prompt.ts";
