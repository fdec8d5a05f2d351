export function countInstructions(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  limit?: number,
): Promise<number>;

export function lowestCount(count: () => Promise<number>, limit?: number): Promise<number>;

export function excessInstructions(budget: number | undefined, now: number): string | undefined;

export function explainOtherNode(budgeted: string, now: string): string | undefined;
