import type {BundledPackage} from './packages.mjs';

export interface Component {
  readonly 'bom-ref': string;
  readonly group?: string;
  readonly name: string;
  readonly version?: string;
  readonly hashes?: readonly {readonly alg: string; readonly content: string}[];
}

export interface Bill {
  readonly serialNumber: string;
  readonly metadata: {readonly component: Component};
  readonly components: readonly Component[];
  readonly dependencies: readonly {readonly ref: string; readonly dependsOn: readonly string[]}[];
}

export interface Runtime {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly components: readonly {readonly name: string; readonly license: string; readonly url: string}[];
}

export interface Described {
  readonly manifest: {
    readonly name: string;
    readonly version: string;
    readonly license: string;
    readonly description: string;
  };
  readonly file: {readonly name: string; readonly sha256: string};
  readonly packages: readonly BundledPackage[];
  readonly locked: Readonly<Record<string, {readonly integrity?: string}>>;
  readonly runtime?: Runtime;
  readonly time: number;
}

export function sbom(described: Described): Bill;
