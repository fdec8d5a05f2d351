export function bundleUi(root: string, outdir?: string): Promise<readonly string[]>;
export function findBudgetFaults(sizes: ReadonlyMap<string, number>): readonly string[];
