import {describe, expect, test} from 'vitest';
import {createDeviceSelectors} from '../../../../../src/kubelet/managers/dra/selectors/device-selectors.js';

const {matches} = createDeviceSelectors();

const GPU = {
  driver: 'gpu.example.com',
  attributes: {
    model: {string: 'A100'},
    index: {int: 3},
    healthy: {bool: true},
    firmware: {version: '1.10.0-rc.2'},
    'resource.kubernetes.io/pcieRoot': {string: 'pci0000:00'},
  },
  capacity: {memory: {value: '80Gi'}},
};

const OWN = 'device.attributes["gpu.example.com"]';

describe('a selector sees of a device', () => {
  test.each([
    ['device.driver == "gpu.example.com"', true],
    ['device.allowMultipleAllocations', false],
    [`${OWN}.model == "A100"`, true],
    [`${OWN}.model in ["H100", "A100"]`, true],
    [`${OWN}.index > 2 && ${OWN}.index % 2 == 1`, true],
    [`${OWN}.healthy`, true],
    ['device.attributes["resource.kubernetes.io"].pcieRoot.startsWith("pci")', true],
    ['device.attributes["other.example.com"].?model.orValue("none") == "none"', true],
    ['"model" in device.attributes["other.example.com"]', false],
    [`"model" in ${OWN}`, true],
    [`has(${OWN}.model)`, true],
    [`has(${OWN}.absent) || "has(" == "has("`, true],
    ['has(device.attributes["other.example.com"].model)', false],
    [`cel.bind(own, ${OWN}, own.model == "A100" && own.healthy)`, true],
    [`${OWN}.exists(name, name == "index")`, true],
    [`${OWN}.firmware.isGreaterThan(semver("1.9.9"))`, true],
    [`${OWN}.firmware.isLessThan(semver("1.10.0"))`, true],
    [`${OWN}.firmware.compareTo(semver("v1.10.0-rc.2", true)) == 0`, true],
    [`${OWN}.firmware.major() == 1 && ${OWN}.firmware.minor() == 10`, true],
    ['isSemver("1.2") || !isSemver("1.2", true)', false],
    ['device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) > 0', true],
    ['device.capacity["gpu.example.com"].memory == quantity("81920Mi")', true],
    ['device.capacity["gpu.example.com"].memory.sub(quantity("80Gi")).sign() == 0', true],
    ['quantity("1.5").isInteger() || quantity("2k").asInteger() != 2000', false],
    ['quantity("1").add(2).asApproximateFloat() == 3.0', true],
    ['isQuantity("3x")', false],
    ['"a-12-b-7".find("[0-9]+") == "12" && "a-12-b-7".findAll("[0-9]+") == ["12", "7"]', true],
    ['"a-1".findAll("[0-9]", 0).size() == 0', true],
    ['[1, 2, 3].sum() == 6 && [3, 1].min() == 1 && [3, 1].max() == 3 && [1, 2].isSorted()', true],
    ['["a", "b", "a"].lastIndexOf("a") == 2 && ["a"].indexOf("b") == -1', true],
    ['sets.contains([1, 2, 3], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])', true],
    ['[3, 1, 3].distinct().sort() == [1, 3] && lists.range(3).reverse() == [2, 1, 0]', true],
    ['[[1], [2]].flatten() == [1, 2] && [1, 2, 3].slice(1, 2) == [2]', true],
    [
      '"abca".replace("a", "x") == "xbcx" && "aa".replace("a", "b", 1) == "ba" && "abc".charAt(1) == "b"',
      true,
    ],
    ['"Gpu".lowerAscii() == "gpu" && "a,b".split(",").size() == 2', true],
    [`${OWN}.index == 3.0`, true],
  ])('%s', (expression, expected) => {
    expect(matches(expression, GPU)).toBe(expected);
  });
});

describe('a selector fails with its expression', () => {
  test.each([
    ['device.attributes[', /^CEL compile error: /],
    ['device.foo == 1', /^CEL compile error: No such key: foo in "device\.foo == 1"$/],
    ['1 + 1', /^CEL compile error: must evaluate to bool or the unknown type, not int, in "1 \+ 1"$/],
    ['ip("10.0.0.1").family() == 4', /^CEL compile error: .*ip/],
    [`${OWN}.absent == "x"`, /^CEL runtime error: No such key: absent in "device/],
    [`${OWN}.model > 3`, /^CEL runtime error: no such overload/],
    [`${OWN}.model`, /^CEL runtime error: the result of .* could not be converted to bool$/],
    ['quantity("x") == quantity("1")', /^CEL runtime error: "x" is not a quantity/],
    ['semver("1") == semver("1.0.0")', /^CEL runtime error: "1" is not a semantic version/],
    ['"a".matches("(")', /^CEL runtime error: /],
    ['has(device)', /^CEL compile error: .*has\(\)/],
  ])('%s', (expression, expected) => {
    expect(() => matches(expression, GPU)).toThrow(expected);
  });
});

test.each([
  ['an invalid version', {version: '1.0'}, /^attribute v: parse semantic version: "1.0" is invalid$/],
  ['no value', {}, /^attribute v: unsupported attribute value$/],
])('an attribute with %s is an error of the device, not of the expression', (_title, v, expected) => {
  const device = {driver: 'd.example.com', attributes: {v}};
  expect(() => matches('device.driver == ""', device)).toThrow(expected);
});
