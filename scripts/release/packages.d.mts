export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly path: string;
  readonly dependencies: readonly string[];
}

export function listPackages(root: string, modules: Iterable<string>): readonly BundledPackage[];
export function notices(root: string, packages: readonly BundledPackage[], runtime?: object): string;
