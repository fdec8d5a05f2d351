import {describe} from 'vitest';
import {describeGoldenCases} from './describe-golden-cases.js';

describe('kcri kubelet on a runtime with events', () => {
  describeGoldenCases('daemon', {hasEvents: true});
});
