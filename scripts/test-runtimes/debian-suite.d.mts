export declare function fetchFromSuite(request: {
  readonly suites: readonly string[];
  readonly package: string;
  readonly into: string;
}): Promise<string>;
export declare function fetchRoot(request: {
  readonly suites: readonly string[];
  readonly packages: readonly string[];
  readonly architecture?: string;
  readonly into: string;
}): Promise<string>;
