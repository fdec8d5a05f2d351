/** Exports of the bundle for bin/kcri.js and the tests. */
export {interruption} from '../interrupt.js';
export {main} from '../main.js';
