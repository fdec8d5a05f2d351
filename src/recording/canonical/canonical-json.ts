/** Proto JSON with snake_case names and without zero values. */
export type Json = string | number | boolean | null | readonly Json[] | {readonly [key: string]: Json};
export type JsonObject = Readonly<Record<string, Json>>;

/** Returns a string of a call, or '' for other values. */
export function stringOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
