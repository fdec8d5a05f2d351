import ts from 'typescript';

/**
 * Replaces the exports of an ES module by a call of `provide` with an object of them. esbuild's own conversion to CommonJS
 * defines two accessors for each export, which takes a tenth of the time of a short command. Only bindings that can
 * change later need one.
 *
 * @param {string} file the name of the module in errors
 * @param {string} text an ES module as esbuild writes it: its exports are lists of local names
 */
export function provideExports(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  const lists = source.statements.filter(ts.isExportDeclaration);
  const isChanging = changingNames(source);
  const members = lists
    .flatMap((list) => exportsIn(file, list))
    // A bundled CommonJS package has the same mark.
    .filter(({name}) => name !== '"__esModule"')
    .map(({name, local}) =>
      isChanging.has(local) ? `get ${name}() {return ${local};}` : `${name}: ${local}`,
    );
  const rest = lists.reduceRight((left, {pos, end}) => left.slice(0, pos) + left.slice(end), text);
  return `${rest}\nprovide({__proto__: null, __esModule: true, ${members.join(', ')}});\n`;
}

function exportsIn(file, {exportClause, moduleSpecifier}) {
  if (moduleSpecifier !== undefined || exportClause === undefined || !ts.isNamedExports(exportClause))
    throw new Error(
      `${file}: esbuild re-exports from another module, which provideExports() does not convert`,
    );
  return exportClause.elements.map(({name, propertyName}) => ({
    name: JSON.stringify(name.text),
    local: (propertyName ?? name).text,
  }));
}

/** Returns the names that are imported or assigned to anywhere: these may be bindings that change. */
function changingNames(source) {
  const names = new Set();
  const addAll = (node) => {
    if (ts.isIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, addAll);
  };
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) addAll(node);
    else if (isAssignment(node)) addAll(node.left);
    else if (isIncrement(node)) addAll(node.operand);
    else if (ts.isForInStatement(node) || ts.isForOfStatement(node)) addAll(node.initializer);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

function isAssignment(node) {
  return ts.isBinaryExpression(node) && ts.isAssignmentOperator(node.operatorToken.kind);
}

function isIncrement(node) {
  return ts.isPostfixUnaryExpression(node) || ts.isPrefixUnaryExpression(node);
}
