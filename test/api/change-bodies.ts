/** The bodies of `since` and `diff`, as tests read them. */
import type { JsonEntity } from "./reference-query.ts";

export const idOf = (entity: JsonEntity): string => String(entity.id ?? `${entity.element}/${entity.port}`);

export interface ChangesBody {
  readonly changes: readonly {
    event: string;
    resource: string;
    revision: number;
    time: number;
    value: JsonEntity;
    changed?: string[];
  }[];
  readonly revision: number;
}

export interface DiffBody {
  readonly from: { revision: number; time: number };
  readonly to: { revision: number; time: number };
  readonly changes: readonly {
    event: string;
    resource: string;
    value: JsonEntity;
    before?: JsonEntity;
    changed?: string[];
  }[];
}
