import {expect, test} from 'vitest';
import {curveNames} from '../../../src/kubelet/configuration/tls-curves.js';

test("curves have Go's numbers and OpenSSL's names", () => {
  expect(curveNames([29, 23, 4588])).toEqual(['X25519', 'P-256', 'X25519MLKEM768']);
});

test.each([
  [[0], 'curve preference 0 is out of range (must be 1-65535)'],
  [[65_536], 'curve preference 65536 is out of range (must be 1-65535)'],
  [[23, 24, 23], 'duplicate curve preference 23'],
  [[22], 'curve preference 22 is not supported by the current Go version'],
])('%j is refused with the error of the kubelet', (numbers, message) => {
  expect(() => curveNames(numbers)).toThrow(message);
});
