declare const brand: unique symbol;

/** A primitive type that is created by one constructor only, so that values of the same shape cannot be mixed up. */
export type Brand<T, Name extends string> = T & {readonly [brand]: Name};
