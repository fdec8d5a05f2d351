import {describe} from 'vitest';
import {describeGoldenCases} from './describe-golden-cases.js';

describe('kcri kubelet on a runtime without events', () => {
  describeGoldenCases('daemon', {hasEvents: false});
});
