declare const brand: unique symbol;

/** A primitive that can't be swapped with another of the same shape: made only by its one constructor. */
export type Brand<T, Name extends string> = T & {readonly [brand]: Name};
