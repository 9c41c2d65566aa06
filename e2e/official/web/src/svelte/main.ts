import { mount } from "svelte";
import Page from "./Page.svelte";

mount(Page, { target: document.querySelector("#page") as Element });
