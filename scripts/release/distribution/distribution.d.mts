export interface Packed {
  readonly root: string;
  readonly manifest: {readonly version: string; readonly license: string};
  readonly target: string;
  readonly program: string;
  readonly noticesText: string;
  readonly time: number;
}

export function explainMissingTools(): string | undefined;
export function writePackages(packed: Packed, folder: string): Promise<readonly string[]>;
