import {ConfigError} from '../../base/errors.js';

/** OpenSSL's names of the curves that Go knows, by their TLS numbers (crypto/tls CurveID). */
const CURVES: ReadonlyMap<number, string> = new Map([
  [23, 'P-256'],
  [24, 'P-384'],
  [25, 'P-521'],
  [29, 'X25519'],
  [4587, 'SecP256r1MLKEM768'],
  [4588, 'X25519MLKEM768'],
  [4589, 'SecP384r1MLKEM1024'],
]);

const MAX_UINT16 = 65_535;

/**
 * Returns OpenSSL's names of the curves in tlsCurvePreferences (cliflag.TLSCurvePreferences). Throws ConfigError with the
 * kubelet's message for a number that is out of range, unknown or given twice.
 */
export function curveNames(numbers: readonly number[]): readonly string[] {
  return numbers.map((number, at) => {
    if (number <= 0 || number > MAX_UINT16)
      throw new ConfigError(`curve preference ${number} is out of range (must be 1-${MAX_UINT16})`);
    if (numbers.indexOf(number) < at) throw new ConfigError(`duplicate curve preference ${number}`);
    const name = CURVES.get(number);
    if (name === undefined)
      throw new ConfigError(`curve preference ${number} is not supported by the current Go version`);
    return name;
  });
}
