/** The end of the bar: the link to the documentation, the menu with the theme, and the list of keys that `?` opens. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button, Icon, Popover } from "../elements/controls.tsx";
import { chooseTheme, THEMES, type Theme, theme } from "../map/palette.ts";
import { usePageKey } from "./search-box.tsx";

export function HelpMenu() {
  const isOpen = useSignal(false);
  const showKeys = () => {
    isOpen.value = true;
  };
  usePageKey("?", showKeys);
  return (
    <>
      <a class="icon-button" href="/docs" title="Documentation" aria-label="Docs: the documentation">
        <Icon name="book" />
        <span class="button-text">Docs</span>
      </a>
      <Popover label="Keys and theme" buttonLabel="Keys and theme" face={<Icon name="help" />}>
        {(close) => (
          <>
            <Button
              class="menu-item"
              label="Keys (?)"
              onClick={() => {
                close();
                showKeys();
              }}
            />
            <fieldset>
              <legend>Theme</legend>
              {THEMES.map((name) => (
                <label key={name} class="check">
                  <input
                    type="radio"
                    name="theme"
                    checked={theme.value === name}
                    onChange={() => chooseTheme(name)}
                  />
                  <span>{THEME_TITLES[name]}</span>
                </label>
              ))}
            </fieldset>
          </>
        )}
      </Popover>
      {isOpen.value && (
        <KeyList
          onClose={() => {
            isOpen.value = false;
          }}
        />
      )}
    </>
  );
}

const THEME_TITLES: Readonly<Record<Theme, string>> = {
  system: "As the system",
  light: "Light",
  dark: "Dark",
};

type Keys = readonly (readonly [keys: string, action: string])[];

/** The keys of each part of the page. The table in docs/map.md has the same. */
const KEYS: readonly (readonly [part: string, keys: Keys])[] = [
  [
    "Everywhere",
    [
      ["/", "search"],
      ["?", "this list"],
      ["Escape", "close the box or the part of the panel that has the focus"],
    ],
  ],
  [
    "In the search",
    [
      ["↑ ↓", "choose a match"],
      ["Enter", "go to it on the map, or to all results in a table"],
      ["Escape", "clear the search"],
    ],
  ],
  [
    "On the map",
    [
      ["← → ↑ ↓", "move the map"],
      ["+  −  0", "zoom in, zoom out, show all"],
      ["Shift and an arrow", "select the next device in that direction"],
      ["Enter", "go to the panel of what is selected"],
      ["Escape", "clear the selection and the chosen problem; leave wall mode"],
    ],
  ],
  [
    "On the map while arranging",
    [
      ["← → ↑ ↓", "move the selected device or the chosen ones; with Shift by a little"],
      ["Space", "choose the selected device, to move several together"],
      ["S", "choose its site"],
      ["Shift and a drag", "choose the devices in a rectangle"],
      ["Escape", "choose none"],
      ["P", "pin or unpin"],
      ["U", "undo"],
    ],
  ],
  [
    "In a table or the list of problems",
    [
      ["↑ ↓  Home  End", "move between rows; in a table also Page Up and Page Down"],
      ["Enter", "open a row, go to a problem"],
    ],
  ],
  [
    "In the time line",
    [
      ["← →  Page Up  Page Down  Home  End", "move a handle"],
      ["Space  P", "play and pause"],
      ["+  −", "faster, slower"],
      ["[  ]", "previous and next incident"],
    ],
  ],
];

/** A modal dialog: the browser keeps the focus in it, closes it on Escape and returns the focus. */
function KeyList({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="key-list" aria-label="Keys" onClose={onClose}>
      <div class="panel-head">
        <h2>Keys</h2>
        <Button label="Close the list of keys" icon="close" onClick={() => dialog.current?.close()} />
      </div>
      {KEYS.map(([part, keys]) => (
        <section key={part}>
          <h3>{part}</h3>
          <dl>
            {keys.map(([key, action]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{action}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </dialog>
  );
}
