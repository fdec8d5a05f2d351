import {formatCount, LEEWAY, percentMore} from './excess.mjs';

/** Number of new modules that are named. */
const NAMED = 5;

/**
 * Returns what a command loads in excess of its budget: its bytes, if there are too many, then each new module that Node.js
 * or a package provides, then the heaviest new modules of the bundle, with the chains of imports that load them. Any new module is one
 * too many, however small: most are loaded by accident.
 */
export function additions(budget, now, graph) {
  const isNew = (budgeted) => (module) => !budgeted.includes(module);
  const chain = (module) => chainTo(module, now.modules, graph).join(' → ');
  const sizeOf = (module) => graph.sizes[module] ?? 0;
  const modules = now.modules.filter(isNew(budget.modules)).toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const outside = now.outside.filter(isNew(budget.outside));
  const percent = percentMore({budget: budget.bytes, now: now.bytes}, LEEWAY.bytes);
  const rest = modules.slice(NAMED);
  return [
    ...(percent === undefined
      ? []
      : [
          `loads ${formatCount(now.bytes)} bytes, ${percent} % more than its budget of ${formatCount(budget.bytes)}`,
        ]),
    ...outside.map((module) => `loads ${chain(module)}`),
    ...modules
      .slice(0, NAMED)
      .map((module) => `loads ${formatCount(sizeOf(module))} bytes of ${chain(module)}`),
    ...(rest.length === 0
      ? []
      : [`loads ${formatCount(sum(rest.map(sizeOf)))} bytes of ${rest.length} smaller new modules`]),
  ];
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Returns the shortest chain of imports from the entry to a module, through loaded modules. */
function chainTo(module, loaded, {inputs, entry}) {
  const seen = new Map([[entry, undefined]]);
  const waiting = [entry];
  for (let at = waiting.shift(); at !== undefined && at !== module; at = waiting.shift())
    for (const {path} of inputs[at]?.imports ?? [])
      if (!seen.has(path) && (path === module || loaded.includes(path))) {
        seen.set(path, at);
        waiting.push(path);
      }
  if (!seen.has(module)) return [module];
  const chain = [];
  for (let at = module; at !== undefined; at = seen.get(at)) chain.unshift(at);
  return chain;
}
