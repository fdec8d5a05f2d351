import {Environment, EvaluationError} from '@marcbachmann/cel-js';
import {NANOS_PER_UNIT, parseQuantity} from '../../../../api/quantity.js';
import {isExpectedError} from '../../../../base/errors.js';
import {registerCollections} from './cel-collections.js';
import {limitCost, type CostLimit} from './cel-cost.js';
import {registerPresenceTest} from './cel-presence.js';
import {CelQuantity, compareAmounts, isWhole} from './cel-quantity.js';
import {registerRegexps} from './cel-regexp.js';
import {compareSemver, normalizeSemver, parseSemver, Semver} from './cel-semver.js';

/** The variable `device`. */
export class CelDevice {
  readonly driver: string;
  readonly allowMultipleAllocations: boolean;
  readonly attributes: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
  readonly capacity: ReadonlyMap<string, ReadonlyMap<string, CelQuantity>>;

  constructor({
    driver,
    allowMultipleAllocations,
    attributes,
    capacity,
  }: Pick<CelDevice, 'driver' | 'allowMultipleAllocations' | 'attributes' | 'capacity'>) {
    this.driver = driver;
    this.allowMultipleAllocations = allowMultipleAllocations;
    this.attributes = attributes;
    this.capacity = capacity;
  }
}

const DEVICE = 'kubernetes.DRADevice';
const QUANTITY = 'kubernetes.Quantity';
const SEMVER = 'kubernetes.Semver';

/** Largest nesting and number of nodes of an expression; both are far above what selectors need. */
const LIMITS = {maxAstNodes: 20_000, maxDepth: 100};

/** Environment in which expressions are parsed, and the limit of what an evaluation costs. */
interface CelEnvironment {
  readonly environment: Environment;
  readonly limit: CostLimit;
}

/**
 * Creates the environment of selectors: that of Kubernetes 1.36 as far as docs/design/node-managers.md says. The library's own
 * functions include those of CEL's standard library and its extension for strings.
 */
export function createCelEnvironment(): CelEnvironment {
  const environment = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: true,
    limits: LIMITS,
  })
    .registerType(QUANTITY, {ctor: CelQuantity, fields: {}})
    .registerType(SEMVER, {ctor: Semver, fields: {}})
    .registerType(DEVICE, {
      ctor: CelDevice,
      fields: {
        driver: 'string',
        allowMultipleAllocations: 'bool',
        attributes: 'map<string, map<string, dyn>>',
        capacity: `map<string, map<string, ${QUANTITY}>>`,
      },
    })
    .registerVariable('device', DEVICE);
  registerQuantities(environment);
  registerSemvers(environment);
  registerTexts(environment);
  const limit = limitCost(environment);
  registerRegexps(environment, limit.spend);
  registerCollections(environment);
  registerPresenceTest(environment);
  return {environment, limit};
}

/** Registers the functions of quantities (library.Quantity). */
function registerQuantities(environment: Environment): void {
  const own = (signature: string) => `${QUANTITY}.${signature}`;
  environment
    .registerFunction(`quantity(string): ${QUANTITY}`, toQuantity)
    .registerFunction('isQuantity(string): bool', (text: string) => findQuantity(text) !== undefined)
    .registerFunction(own('sign(): int'), ({nanos}: CelQuantity) =>
      nanos < 0n ? -1n : BigInt(Number(nanos > 0n)),
    )
    .registerFunction(own('isInteger(): bool'), isWhole)
    .registerFunction(own('asInteger(): int'), (amount: CelQuantity) => {
      if (!isWhole(amount)) throw failure('cannot convert value to integer');
      return amount.nanos / NANOS_PER_UNIT;
    })
    .registerFunction(
      own('asApproximateFloat(): double'),
      ({nanos}: CelQuantity) => Number(nanos) / Number(NANOS_PER_UNIT),
    )
    .registerFunction(own(`compareTo(${QUANTITY}): int`), compareAmounts)
    .registerFunction(
      own(`isGreaterThan(${QUANTITY}): bool`),
      (a: CelQuantity, b: CelQuantity) => a.nanos > b.nanos,
    )
    .registerFunction(
      own(`isLessThan(${QUANTITY}): bool`),
      (a: CelQuantity, b: CelQuantity) => a.nanos < b.nanos,
    )
    .registerOperator(`${QUANTITY} == ${QUANTITY}`, (a: CelQuantity, b: CelQuantity) => a.nanos === b.nanos);
  const sum = (name: string, sign: bigint): void => {
    environment
      .registerFunction(
        own(`${name}(${QUANTITY}): ${QUANTITY}`),
        (a: CelQuantity, b: CelQuantity) => new CelQuantity(a.nanos + sign * b.nanos),
      )
      .registerFunction(
        own(`${name}(int): ${QUANTITY}`),
        (a: CelQuantity, b: bigint) => new CelQuantity(a.nanos + sign * b * NANOS_PER_UNIT),
      );
  };
  sum('add', 1n);
  sum('sub', -1n);
}

function findQuantity(text: string): CelQuantity | undefined {
  try {
    return new CelQuantity(parseQuantity(text).nanos);
  } catch (error) {
    if (isExpectedError(error)) return undefined;
    throw error;
  }
}

function toQuantity(text: string): CelQuantity {
  const found = findQuantity(text);
  if (found === undefined) throw failure(`${JSON.stringify(text)} is not a quantity`);
  return found;
}

/** Registers the functions of versions (library.SemverLib, version 1). */
function registerSemvers(environment: Environment): void {
  const own = (signature: string) => `${SEMVER}.${signature}`;
  const find = (text: string, normalizes: boolean) => parseSemver(normalizes ? normalizeSemver(text) : text);
  const toSemver = (text: string, normalizes = false): Semver => {
    const found = find(text, normalizes);
    if (found === undefined) throw failure(`${JSON.stringify(text)} is not a semantic version`);
    return found;
  };
  environment
    .registerFunction(`semver(string): ${SEMVER}`, (text: string) => toSemver(text))
    .registerFunction(`semver(string, bool): ${SEMVER}`, toSemver)
    .registerFunction('isSemver(string): bool', (text: string) => find(text, false) !== undefined)
    .registerFunction(
      'isSemver(string, bool): bool',
      (text: string, normalizes: boolean) => find(text, normalizes) !== undefined,
    )
    .registerFunction(own('major(): int'), ({major}: Semver) => major)
    .registerFunction(own('minor(): int'), ({minor}: Semver) => minor)
    .registerFunction(own('patch(): int'), ({patch}: Semver) => patch)
    .registerFunction(own(`compareTo(${SEMVER}): int`), compareSemver)
    .registerFunction(
      own(`isGreaterThan(${SEMVER}): bool`),
      (a: Semver, b: Semver) => compareSemver(a, b) > 0n,
    )
    .registerFunction(own(`isLessThan(${SEMVER}): bool`), (a: Semver, b: Semver) => compareSemver(a, b) < 0n)
    .registerOperator(`${SEMVER} == ${SEMVER}`, (a: Semver, b: Semver) => compareSemver(a, b) === 0n);
}

/** Registers functions of strings that the library lacks (ext.Strings). */
function registerTexts(environment: Environment): void {
  environment
    .registerFunction('string.charAt(int): string', (text: string, index: bigint) => {
      if (index < 0n || index > BigInt(text.length)) throw failure(`index out of range: ${index}`);
      return text.charAt(Number(index));
    })
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      text.replaceAll(from, () => to),
    )
    .registerFunction(
      'string.replace(string, string, int): string',
      (text: string, from: string, to: string, limit: bigint) => {
        if (limit < 0n) return text.replaceAll(from, () => to);
        let left = Number(limit);
        return text.replaceAll(from, (match) => ((left -= 1) < 0 ? match : to));
      },
    );
}

function failure(message: string): EvaluationError {
  return new EvaluationError(message);
}
