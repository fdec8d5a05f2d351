/**
 * Strategies for the differences between commands under kcri's own name and as crictl: one for each command, or for
 * what several commands share. The module that uses a strategy adds it to this interface. kcri's own strategies are
 * next to the commands' code; crictl's are in crictl/strategies and loaded only under that name (Dialect.strategy).
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- filled by the modules that use strategies
export interface CommandStrategies {}
