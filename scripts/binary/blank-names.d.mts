export declare const CODE_LOADING_NAMES: readonly string[];
export declare function blankNames(file: string, names: readonly string[]): Promise<void>;
