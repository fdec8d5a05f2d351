export declare function ensureKubectl(cache: string): Promise<string>;
