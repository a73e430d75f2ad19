/** The menu of saved views: those of the browser and those of the configuration; saving, sharing and printing. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { MapView } from "../../model/map-view.ts";
import { useStore } from "../data/page-store.ts";
import { Button, copyText, Icon, Popover, submits, TextField } from "../elements/controls.tsx";
import { checkView } from "./arrangement.ts";
import { currentView, deleteView, openView, renameView, saveView } from "./view-actions.ts";
import { encodeViewLink, printView } from "./view-link.ts";

export function ViewsMenu() {
  return (
    <Popover label="Views" buttonLabel="Views" text="Views" face={<Icon name="bookmark" />}>
      {(close) => (
        <div class="views-menu">
          <BrowserViews close={close} />
          <ConfiguredViews close={close} />
          <CurrentView />
        </div>
      )}
    </Popover>
  );
}

interface ListProps {
  readonly close: () => void;
}

function BrowserViews({ close }: ListProps) {
  const views = useStore().arranging.views.list.value;
  return (
    <section>
      <h2>In this browser</h2>
      {views.length === 0 && <p class="muted">None yet.</p>}
      <ul class="entries">
        {views.map((view) => (
          <ViewRow key={view.name} view={view} close={close} />
        ))}
      </ul>
    </section>
  );
}

function ViewRow({ view, close }: ListProps & { readonly view: MapView }) {
  const store = useStore();
  const renaming = useSignal(false);
  const { name } = view;
  if (renaming.value)
    return (
      <li class="entry">
        <NameForm
          label={`New name of ${name}`}
          button="Rename"
          initial={name}
          submit={(next) => {
            const checked = renameView(store, name, next);
            if (checked.ok) renaming.value = false;
            return checked.ok ? "" : checked.message;
          }}
        />
      </li>
    );
  return (
    <li class="entry">
      <OpenButton view={view} close={close} />
      <Button
        label={`Rename ${name}`}
        icon="edit"
        onClick={() => {
          renaming.value = true;
        }}
      />
      <Button label={`Delete ${name}`} icon="close" onClick={() => deleteView(store, name)} />
    </li>
  );
}

function ConfiguredViews({ close }: ListProps) {
  const views = useStore().settings.value?.views ?? [];
  if (views.length === 0) return null;
  return (
    <section>
      <h2>From the configuration</h2>
      <ul class="entries">
        {views.map((view) => (
          <li key={view.name} class="entry">
            <OpenButton view={view} close={close} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OpenButton({ view, close }: ListProps & { readonly view: MapView }) {
  const store = useStore();
  const open = () => {
    close();
    openView(store, view);
  };
  return <Button class="menu-item" label={view.name} onClick={open} />;
}

/** The section that saves, shares or prints what the page shows. */
function CurrentView() {
  const store = useStore();
  const printed = useSignal<string | undefined>(undefined);
  const id = useId();
  const name = store.arranging.opened.value?.view.name ?? "";
  const nameOrDefault = name || "My view";
  const share = async () => {
    const link = await encodeViewLink(currentView(store, nameOrDefault));
    if (!link.ok) return store.notify(link.message);
    return copyText(store, `${location.origin}/${link.value}`, "the link");
  };
  return (
    <section>
      <h2>What the page shows now</h2>
      <NameForm
        label="Name of the view"
        button="Save"
        initial={name}
        submit={(next) => {
          const checked = saveView(store, next);
          if (checked.ok) store.notify(`Saved the view ${next} in this browser`);
          return checked.ok ? "" : checked.message;
        }}
      />
      <div class="actions">
        <Button label="Copy link with arrangement" onClick={() => void share()} />
        <Button
          label="Show text for the configuration file"
          pressed={printed.value !== undefined}
          onClick={() => {
            printed.value =
              printed.value === undefined ? printView(currentView(store, nameOrDefault)) : undefined;
          }}
        />
      </div>
      {printed.value !== undefined && (
        <div class="stack">
          <label for={id}>Section for the configuration file of the service</label>
          <textarea id={id} readOnly rows={8} value={printed.value} />
          <Button
            label="Copy section"
            onClick={() => void copyText(store, printed.peek() ?? "", "the section")}
          />
        </div>
      )}
    </section>
  );
}

interface NameFormProps {
  readonly label: string;
  readonly button: string;
  readonly initial: string;
  /** Returns why the name is not possible, or an empty string. */
  readonly submit: (name: string) => string;
}

function NameForm({ label, button, initial, submit }: NameFormProps) {
  const text = useSignal(initial);
  const fault = useSignal("");
  const run = () => {
    const name = text.peek().trim();
    const checked = checkView({ name, state: "" });
    fault.value = checked.ok ? submit(name) : checked.message;
  };
  return (
    <form class="stack" onSubmit={submits(run)}>
      <TextField
        label={label}
        value={text.value}
        fault={fault.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
      <button type="submit" class="text-button">
        {button}
      </button>
    </form>
  );
}
