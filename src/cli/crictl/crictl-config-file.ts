import {ConfigError} from '../../base/errors.js';
import {goQuote} from '../../format/go-quote.js';
import {CONFIG_OPTIONS, INTEGER, type ConfigFileDialect, type ConfigKey} from '../settings/config-file.js';

/** Dialect of crictl: Go's error texts, and an unknown option is an error. */
export const CRICTL_CONFIG_FILE_DIALECT: ConfigFileDialect = {
  onUnknown: (key) => {
    throw new ConfigError(`Config option '${key}' is not valid`);
  },
  createValueError: (key, value) =>
    new ConfigError(`parsing config option '${key}': ${goParseError(key, value)}`),
  isLenient: false,
};

/** Returns the error of Go's strconv for a value that it cannot parse. */
export function goParseError(key: ConfigKey, value: string): string {
  const parser = CONFIG_OPTIONS[key] === 'boolean' ? 'ParseBool' : 'Atoi';
  const reason = parser === 'Atoi' && INTEGER.test(value) ? 'value out of range' : 'invalid syntax';
  return `strconv.${parser}: parsing ${goQuote(value)}: ${reason}`;
}
