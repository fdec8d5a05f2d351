/** Proto JSON with snake_case names, zero values left out. */
export type Json = string | number | boolean | null | readonly Json[] | {readonly [key: string]: Json};
export type JsonObject = Readonly<Record<string, Json>>;

/** A text of a call; empty when it is something else. */
export function stringOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
