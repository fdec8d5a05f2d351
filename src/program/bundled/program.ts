/** Exports of the bundle for bin/kcri.js and the tests. */
export {interruption} from '../../cli/process/interrupt.js';
export {main, runProcess} from '../main.js';
