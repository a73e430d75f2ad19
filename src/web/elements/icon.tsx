/** The icons of the page: paths on a grid of 16 in the colour of the text around them. */
const PATHS = {
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14",
  close: "M4 4l8 8M12 4l-8 8",
  filter: "M2 4h12M4.5 8h7M6.5 12h3",
  fit: "M2 6V2h4M14 6V2h-4M2 10v4h4M14 10v4h-4",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  list: "M3 4h10M3 8h10M3 12h6",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  download: "M8 2v8m-3-3 3 3 3-3M3 13h10",
  drift: "M2 5h12M2 11h12M11 2 5 14",
  conflict: "M8 2 15 14H1ZM8 7v3M8 12v.01",
  gauge: "M2 12a6 6 0 1 1 12 0M8 12l3-4",
  path: "M3.5 5a1.5 1.5 0 1 0-.01 0ZM12.5 14a1.5 1.5 0 1 0-.01 0ZM5 3.5h4a2.5 2.5 0 0 1 0 5H7a2 2 0 0 0 0 4h4",
  play: "M4 2.5v11l9-5.5Z",
  pause: "M5 3v10M11 3v10",
  previous: "M12 3 6 8l6 5ZM4 3v10",
  next: "M4 3l6 5-6 5ZM12 3v10",
  wall: "M1.5 3h13v8h-13zM8 11v2.5M5 13.5h6",
  pin: "M6 2h4l-.6 4.2L12 9H4l2.6-2.8ZM8 9v5",
  bookmark: "M4 2h8v12l-4-3.4L4 14Z",
  edit: "M3 13l.8-3.2L10.5 3 13 5.5l-6.8 6.7ZM9 4.5 11.5 7",
  legend: "M3 4h2M8 4h5M3 8h2M8 8h5M3 12h2M8 12h5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" width={16} height={16} class="icon" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
