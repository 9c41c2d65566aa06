export { type AskUserOptions, askUser } from "./asking.ts";
export { type RecordAudioOptions, recordAudio, type TakePhotoOptions, takePhoto } from "./capture.ts";
export { draw } from "./drawing.ts";
export { type OpenFileOptions, openFile, type SaveFileOptions, saveFile } from "./files.ts";
export { type FillFormOptions, fillForm } from "./forms.ts";
export { type NavigateOptions, navigate } from "./navigation.ts";
export { type TakeScreenshotOptions, takeScreenshot } from "./screen.ts";
export { type GetSelectionOptions, getSelection } from "./selection.ts";
