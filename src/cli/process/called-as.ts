import {basename} from 'node:path';

/** Command that started this process. */
export const SCRIPT: readonly string[] = process.argv.slice(0, 2);

/** Programs in whose place kcri can be: under their name, which is a link to it, or with KCRI_COMPAT. */
const OTHERS = ['crictl', 'kubelet'] as const;

/** Name under which kcri runs. */
export type CalledAs = 'kcri' | (typeof OTHERS)[number];

/** Returns the name under which kcri runs, by the environment and the path of the program. */
export function calledAs(env: Readonly<Record<string, string | undefined>>, program = ''): CalledAs {
  const name = env['KCRI_COMPAT'] ?? '';
  return (
    OTHERS.find((other) => other === name) ?? OTHERS.find((other) => other === basename(program)) ?? 'kcri'
  );
}

/** Returns the name under which this process was called. */
export function processCalledAs(program = SCRIPT): CalledAs {
  const called = calledAs(process.env, program.at(-1));
  return called === 'kcri' ? calledAs({}, process.argv0) : called;
}
