/** Starts the page. */
import { startApp } from "./app.tsx";

const worker = document.querySelector<HTMLMetaElement>('meta[name="layout-worker"]');
startApp(document.body, worker?.content ?? "");
