/** Counts memory that a computation needs while it runs, as an estimate. A negative number is memory that is free again. */
export type CountBytes = (bytes: number) => void;
