import {EvaluationError, ParseError, TypeError as CelTypeError, type ParseResult} from '@marcbachmann/cel-js';
import type {DeviceAttribute} from '../../../../api/types/v1-device-resources.js';
import {parseQuantity} from '../../../../api/quantity.js';
import {messageOf, SystemError} from '../../../../base/errors.js';
import type {MatchesSelector, SelectableDevice} from '../allocation/allocation-types.js';
import {CelDevice, createCelEnvironment} from './cel-environment.js';
import {withPresenceTest} from './cel-presence.js';
import {CelQuantity} from './cel-quantity.js';
import {parseSemver} from './cel-semver.js';

/** Selectors of devices in CEL. */
export interface DeviceSelectors {
  readonly matches: MatchesSelector;
}

/** Creates the evaluation of selectors. An expression is compiled once. */
export function createDeviceSelectors(): DeviceSelectors {
  const environment = createCelEnvironment();
  const compiled = new Map<string, ParseResult>();
  const compile = (expression: string): ParseResult => {
    const known = compiled.get(expression);
    if (known !== undefined) return known;
    const parsed = withCelErrors('CEL compile error', () => environment.parse(withPresenceTest(expression)));
    const {valid, type, error} = parsed.check();
    if (!valid)
      throw new SystemError(`CEL compile error: ${summaryOf(error)} in ${JSON.stringify(expression)}`);
    if (type !== 'bool' && type !== 'dyn')
      throw new SystemError(
        `CEL compile error: must evaluate to bool or the unknown type, not ${type ?? ''}, in ${JSON.stringify(expression)}`,
      );
    compiled.set(expression, parsed);
    return parsed;
  };
  return {
    matches: (expression, device) => {
      const program = compile(expression);
      const value: unknown = withCelErrors(
        'CEL runtime error',
        () => program({device: toCelDevice(device)}) as unknown,
        expression,
      );
      if (typeof value === 'boolean') return value;
      throw new SystemError(
        `CEL runtime error: the result of ${JSON.stringify(expression)} could not be converted to bool`,
      );
    },
  };
}

/** Returns the result of work; an error of the library becomes a SystemError with the expression. */
function withCelErrors<T>(what: string, work: () => T, expression = ''): T {
  try {
    return work();
  } catch (cause) {
    if (!isCelError(cause)) throw cause;
    const where = expression === '' ? '' : ` in ${JSON.stringify(expression)}`;
    throw new SystemError(`${what}: ${summaryOf(cause)}${where}`, {cause});
  }
}

function isCelError(error: unknown): error is Error {
  return [ParseError, EvaluationError, CelTypeError].some((type) => error instanceof type);
}

/** Returns the message of an error without the excerpt of the expression below it. */
function summaryOf(error: unknown): string {
  return messageOf(error).split('\n')[0]?.replaceAll('__has', 'has') ?? '';
}

/** Returns what an expression sees of a device. */
function toCelDevice({
  driver,
  attributes = {},
  capacity = {},
  allowMultipleAllocations = false,
}: SelectableDevice): CelDevice {
  return new CelDevice({
    ...{driver, allowMultipleAllocations},
    attributes: byDomain(attributes, driver, attributeValue),
    capacity: byDomain(capacity, driver, ({value}) => new CelQuantity(parseQuantity(value).nanos)),
  });
}

/** Maps values by domain and identifier. Names without a domain are the driver's; a domain that is not there is empty. */
function byDomain<T, V>(
  values: Readonly<Record<string, T>>,
  driver: string,
  convert: (value: T, name: string) => V,
): ReadonlyMap<string, ReadonlyMap<string, V>> {
  const domains = new DomainMap<V>();
  for (const [name, value] of Object.entries(values)) {
    const at = name.indexOf('/');
    const domain = at < 0 ? driver : name.slice(0, at);
    domains.add(domain, name.slice(at + 1), convert(value, name));
  }
  return domains.map;
}

/** Builds a map of maps in which a domain that is not there is an empty map (newStringInterfaceMapWithDefault). */
class DomainMap<V> {
  readonly map = new Map<string, Map<string, V>>();

  constructor() {
    const empty = new Map<string, V>();
    // The library accepts no subclass of Map.
    this.map.get = (domain) =>
      (Map.prototype.get.call(this.map, domain) as Map<string, V> | undefined) ?? empty;
  }

  add(domain: string, name: string, value: V): void {
    if (!this.map.has(domain)) this.map.set(domain, new Map());
    this.map.get(domain)?.set(name, value);
  }
}

function attributeValue({int, bool, string, version}: DeviceAttribute, name: string): unknown {
  if (int !== undefined) return BigInt(int);
  if (version === undefined) return bool ?? string ?? unsupported(name);
  const parsed = parseSemver(version);
  if (parsed === undefined)
    throw new SystemError(`attribute ${name}: parse semantic version: ${JSON.stringify(version)} is invalid`);
  return parsed;
}

function unsupported(name: string): never {
  throw new SystemError(`attribute ${name}: unsupported attribute value`);
}
