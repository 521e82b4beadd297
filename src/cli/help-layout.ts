/** How `--help` looks: where a description has no room beside its flag, it stands below. */
import { Help } from 'commander';

/** A column of fewer characters is hard to read. */
const narrowest = 40;
const ownLine = '\n      ';

export const helpLayout: Partial<Help> = {
  formatItem(term, termWidth, description, helper) {
    const width = helper.helpWidth ?? 80;
    // Commander has two characters ahead of the term, and two behind it.
    if (width - termWidth - 4 >= narrowest) return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
    return `  ${term}${ownLine}${helper.boxWrap(description, width - ownLine.length).replaceAll('\n', ownLine)}`;
  },
};
