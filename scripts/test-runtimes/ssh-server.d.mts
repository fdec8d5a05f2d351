export declare function ensureSshServer(cache: string): Promise<string>;
