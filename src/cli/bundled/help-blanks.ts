import {userAgent} from '../user-agent.js';

/** What stands in a help text that is made beforehand for what is only known when it is shown. */
export const HELP_BLANKS = {program: '\u0001name\u0001', agent: '\u0001agent\u0001'} as const;

/** A help text with its blanks filled in; `program` is what kcri is called as. */
export function filledIn(text: string, program: string): string {
  return text.replaceAll(HELP_BLANKS.program, program).replaceAll(HELP_BLANKS.agent, userAgent());
}
