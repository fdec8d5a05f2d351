/**
 * Keeps functions from the last of an engine's compilers, where one can choose (the executable has another module here:
 * scripts/bundle/replacements.mjs). It takes up to 20 ms for a function, so that a command is over before that pays.
 */
export const compileLess: (...functions: readonly ((...args: never[]) => unknown)[]) => void = () =>
  undefined;
