/** Directory of files downloaded for tests. */
export declare const CACHE: string;
export declare function ensureSecondContainerd(
  say: (step: string) => void,
): Promise<
  {readonly folder: string; readonly version: string; readonly runc?: string | undefined} | undefined
>;
