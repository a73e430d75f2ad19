/** A part of the box in which the user arranges the map. It is closed until it is used, because the box covers the map. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface ArrangeSectionProps {
  readonly title: string;
  /** Whether it is open at first. */
  readonly isUsed: boolean;
  readonly children: ComponentChildren;
}

export function ArrangeSection({ title, isUsed, children }: ArrangeSectionProps) {
  const [isOpen] = useState(isUsed);
  return (
    <details open={isOpen}>
      <summary>
        <h3>{title}</h3>
      </summary>
      {children}
    </details>
  );
}
