import {userAgent} from '../user-agent.js';

/** What stands in a help text that is made beforehand for what is only known when it is shown. */
export const HELP_BLANKS = {program: '\u0001name\u0001', agent: '\u0001agent\u0001'} as const;

/** Stands for blanks; the character behind it, as many codes after the blank, tells how many. */
const RUN = '\u0002';
const NO_BLANKS = ' '.charCodeAt(0);

/** A help text as it is kept: a third of one is blanks. */
export function packedHelp(text: string): string {
  return text.replaceAll(/ {4,80}/g, ({length}) => RUN + String.fromCharCode(NO_BLANKS + length));
}

/** What it is in full; `program` is what kcri is called as. */
export function filledIn(packed: string, program: string): string {
  return packed
    .replaceAll(/\u0002(.)/g, (_, count: string) => ' '.repeat(count.charCodeAt(0) - NO_BLANKS))
    .replaceAll(HELP_BLANKS.program, program)
    .replaceAll(HELP_BLANKS.agent, userAgent());
}
