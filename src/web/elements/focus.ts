/** Where the focus goes between the map or table and the panel: Enter leads in, Escape closes and leads back. */
export const PANEL_ID = "panel";

export function focusPanel(): void {
  document.getElementById(PANEL_ID)?.focus();
}

/** Closes the part of the panel that has the focus, or else its first part. The focus returns to the map or table. */
export function closeOnEscape(event: KeyboardEvent): void {
  const panel = event.currentTarget;
  if (event.key !== "Escape" || event.defaultPrevented || !(panel instanceof HTMLElement)) return;
  const focused = event.target instanceof Node ? event.target : panel;
  const heads = [...panel.querySelectorAll(".panel-head")];
  // The heading before what has the focus, in document order.
  const head = heads.findLast(
    (each) =>
      each.contains(focused) || each.compareDocumentPosition(focused) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const close = [...((head ?? heads[0])?.querySelectorAll("button") ?? [])].at(-1);
  if (!close) return;
  event.preventDefault();
  close.click();
  document.querySelector<HTMLElement>('.map-focus, .grid [role="row"][tabindex="0"]')?.focus();
}
