/**
 * A value that may change at any time, such as a field of a configuration that is read again. Whoever uses it reads `current`
 * at that moment; options that contain it can be copied.
 */
export interface LiveValue<T> {
  readonly current: T;
}

/** Returns a value that `read` determines at each use. */
export function liveValue<T>(read: () => T): LiveValue<T> {
  return {
    get current() {
      return read();
    },
  };
}
