import type {ParseResult} from '@marcbachmann/cel-js';
import type {DeviceAttribute} from '../../../../api/types/v1-device-resources.js';
import {parseQuantity} from '../../../../api/quantity.js';
import {messageOf, SystemError} from '../../../../base/errors.js';
import {shorten} from '../../../../base/shorten.js';
import type {MatchesSelector, SelectableDevice} from '../allocation/allocation-types.js';
import {CostLimitError} from './cel-cost.js';
import {CelDevice, createCelEnvironment} from './cel-environment.js';
import {withOwnFunctions, withPublicNames} from './cel-own-functions.js';
import {CelQuantity} from './cel-quantity.js';
import {parseSemver} from './cel-semver.js';

/** Selectors of devices in CEL. */
export interface DeviceSelectors {
  readonly matches: MatchesSelector;
}

/** Longest expression (CELSelectorExpressionMaxLength). */
const MOST_BYTES = 10 * 1024;

const SIMPLIFY = 'simplify the CEL expression';

/** Creates the evaluation of selectors. An expression is compiled once. */
export function createDeviceSelectors(): DeviceSelectors {
  const {environment, limit} = createCelEnvironment();
  const compiled = new Map<string, ParseResult>();
  const compile = (expression: string): ParseResult => {
    const known = compiled.get(expression);
    if (known !== undefined) return known;
    if (Buffer.byteLength(expression) > MOST_BYTES)
      throw new SystemError(
        `CEL compile error: may not be more than ${MOST_BYTES} bytes: ${excerpt(expression)}`,
        {hint: SIMPLIFY},
      );
    const parsed = withCelErrors('CEL compile error', () => environment.parse(withOwnFunctions(expression)));
    const {valid, type, error} = parsed.check();
    if (!valid) throw new SystemError(`CEL compile error: ${summaryOf(error)} in ${excerpt(expression)}`);
    if (type !== 'bool' && type !== 'dyn')
      throw new SystemError(
        `CEL compile error: must evaluate to bool or the unknown type, not ${type ?? ''}, in ${excerpt(expression)}`,
      );
    compiled.set(expression, parsed);
    return parsed;
  };
  return {
    matches: (expression, device) => {
      const program = compile(expression);
      const value: unknown = withCelErrors(
        'CEL runtime error',
        () => limit.evaluate(program.ast, () => program({device: toCelDevice(device)}) as unknown),
        expression,
      );
      if (typeof value === 'boolean') return value;
      throw new SystemError(
        `CEL runtime error: the result of ${excerpt(expression)} could not be converted to bool`,
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
    const where = expression === '' ? '' : ` in ${excerpt(expression)}`;
    const hint = cause instanceof CostLimitError ? SIMPLIFY : undefined;
    throw new SystemError(`${what}: ${summaryOf(cause)}${where}`, {cause, hint});
  }
}

/** Reports whether an error is one of an expression. Functions of the library throw any error for an argument that is wrong. */
function isCelError(error: unknown): error is Error {
  return error instanceof Error && !(error instanceof SystemError);
}

/** Longest expression in a message. */
const LONGEST_EXCERPT = 300;

function excerpt(expression: string): string {
  return JSON.stringify(shorten(expression, LONGEST_EXCERPT));
}

/** Returns the message of an error without the excerpt of the expression below it. */
function summaryOf(error: unknown): string {
  return withPublicNames(messageOf(error).split('\n')[0] ?? '');
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
