export interface PackedFile {
  readonly path: string;
  readonly text: string;
  readonly size: number;
}

export interface Pack {
  readonly files: readonly PackedFile[];
  readonly manifest: {
    readonly name: string;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly man?: readonly string[];
  };
  readonly pages: readonly string[];
  readonly root: string;
}

export function findPackageFaults(pack: Pack): readonly string[];
