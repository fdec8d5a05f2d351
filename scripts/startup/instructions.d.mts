export function countInstructions(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number>;

export function excessInstructions(budget: number | undefined, now: number): string | undefined;

export function explainOtherNode(budgeted: string, now: string): string | undefined;
