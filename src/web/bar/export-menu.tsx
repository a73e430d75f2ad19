/** The menu that copies or downloads what a view shows: the request, a link, a picture, a file. */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { errorFromResponse } from "../../client/client-error.ts";
import { reasonOf } from "../data/pacing.ts";
import { type PageStore, useStore } from "../data/page-store.ts";
import { Button, copyText, Icon, Popover } from "../elements/controls.tsx";
import { signsOf } from "../map/legend.tsx";
import type { NetworkMap } from "../map/map.ts";
import type { PictureOptions } from "../map/map-export.ts";
import { currentPalette, PALETTES } from "../map/palette.ts";
import { isPrintRequested, paperLines, paperTitle } from "../map/paper.tsx";
import { curlLine, downloadRequest, requestsFor } from "./curl.ts";

/** The lifetime of the URL of a downloaded picture, because the browser reads the picture after the click. */
const PICTURE_URL_MS = 10_000;
const MAP_FORMATS = { SVG: "svg", GraphML: "graphml" } as const;
const TABLE_FORMATS = { CSV: "csv", NDJSON: "ndjson" } as const;

type MapRef = RefObject<NetworkMap | null>;

export function ExportMenu({ map }: { readonly map: MapRef }) {
  return (
    <Popover
      label="Export and share"
      buttonLabel="Export and share"
      text="Export"
      face={<Icon name="download" />}
    >
      {(close) => <ExportItems map={map} close={close} />}
    </Popover>
  );
}

function ExportItems({ map, close }: { readonly map: MapRef; readonly close: () => void }) {
  const store = useStore();
  const state = store.state.value;
  const onMap = state.view === "map";
  const requests = requestsFor(state);
  const time = () => (state.at ?? new Date().toISOString()).replaceAll(/[:.]/g, "-").slice(0, 19);
  const fileName = (extension: string) => `${onMap ? "network" : state.view}-${time()}.${extension}`;
  const downloadBlob = (blob: Blob | undefined, extension: string) => {
    if (!blob) return;
    const url = URL.createObjectURL(blob);
    download(url, fileName(extension));
    setTimeout(() => URL.revokeObjectURL(url), PICTURE_URL_MS);
  };
  const scheme = useSignal<PictureOptions["scheme"]>(currentPalette() === PALETTES.dark ? "dark" : "light");
  const pixelRatio = useSignal(1);
  const downloadPng = async () => {
    const options = {
      scheme: scheme.peek(),
      pixelRatio: pixelRatio.peek(),
      title: paperTitle(),
      lines: paperLines(store, Date.now()),
      signs: signsOf(state.layer, store.overlay.peek()),
    };
    try {
      downloadBlob(await map.current?.exportPng(options), "png");
    } catch (error) {
      store.notify(`The picture cannot be made: ${reasonOf(error)}`);
    }
  };
  const downloadFile = async (format: string) => {
    const request = downloadRequest(state, format);
    // The browser does not send the page's own credentials with a link.
    if (!store.session.hasOwnCredentials) return download(request, fileName(format));
    try {
      const response = await store.session.fetch(request, {});
      if (!response.ok) throw errorFromResponse(response, await response.text(), Date.now());
      downloadBlob(await response.blob(), format);
    } catch (error) {
      store.notify(`The file cannot be downloaded: ${reasonOf(error)}`);
    }
  };
  const downloadDrawing = async () => downloadBlob(await drawMap(store, map.current), "svg");
  const item = (label: string, run: () => void) => (
    <Button
      key={label}
      class="menu-item"
      label={label}
      onClick={() => {
        close();
        run();
      }}
    />
  );
  return (
    <>
      {requests.length > 0 &&
        item("Copy as curl", () => {
          void copyText(store, curlLine(location.origin, ...requests), "the request as curl");
        })}
      {item("Copy link to this view", () => void copyText(store, location.href, "the link"))}
      {onMap && item("Download PNG", () => void downloadPng())}
      {onMap && (
        <div class="picture-options">
          <select
            aria-label="Colours of the PNG"
            value={scheme.value}
            onChange={({ currentTarget }) => {
              scheme.value = currentTarget.value === "dark" ? "dark" : "light";
            }}
          >
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
          <select
            aria-label="Size of the PNG"
            value={String(pixelRatio.value)}
            onChange={({ currentTarget }) => {
              pixelRatio.value = Number(currentTarget.value);
            }}
          >
            <option value="1">1×</option>
            <option value="2">2×</option>
          </select>
        </div>
      )}
      {item("Print", () => {
        if (onMap) print();
        else isPrintRequested.value = true;
      })}
      {Object.entries(onMap ? MAP_FORMATS : TABLE_FORMATS).map(([title, format]) =>
        item(`Download ${title}`, () => {
          if (format === "svg") void downloadDrawing();
          else void downloadFile(format);
        }),
      )}
    </>
  );
}

/** Draws the map in the page, because the service does not know what the user has arranged, and places new devices anew. */
async function drawMap(store: PageStore, map: NetworkMap | null): Promise<Blob | undefined> {
  const network = store.network.peek();
  if (!network || !map) return undefined;
  try {
    const response = await store.client.raw("topology", { at: store.state.peek().at });
    const facts = {
      topology: await response.json(),
      revision: Number(response.headers.get("gazetteer-revision")),
    };
    return await map.exportSvg(network, facts);
  } catch (error) {
    store.notify(`The network cannot be drawn: ${reasonOf(error)}`);
    return undefined;
  }
}

function download(href: string, name: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}
