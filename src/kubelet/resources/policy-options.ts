import {SystemError} from '../../base/errors.js';
import {requireInt64} from '../../format/go-integer.js';
import {goQuote} from '../../format/go-quote.js';

const TRUE = /^(?:1|t|T|true|TRUE|True)$/;
const FALSE = /^(?:0|f|F|false|FALSE|False)$/;

/** Returns the boolean value of an option of a manager's policy. Throws SystemError with the kubelet's text. */
export function parsePolicyBoolean(option: string, value: string): boolean {
  if (TRUE.test(value)) return true;
  if (FALSE.test(value)) return false;
  throw new SystemError(
    `bad value for option ${goQuote(option)}: strconv.ParseBool: parsing ${goQuote(value)}: invalid syntax`,
    {hint: `set ${option} to true or false`},
  );
}

/** Returns the integer value of an option of a manager's policy. Throws SystemError with the kubelet's text. */
export function parsePolicyInteger(option: string, value: string): number {
  let reason = 'invalid syntax';
  if (/^[-+]?\d+$/.test(value))
    try {
      return Number(requireInt64(BigInt(value.replace(/^\+/, ''))));
    } catch {
      reason = 'value out of range';
    }
  throw new SystemError(
    `unable to convert policy option to integer ${goQuote(option)}: strconv.Atoi: parsing ${goQuote(value)}: ${reason}`,
    {hint: `set ${option} to an integer`},
  );
}
