/** The layout of `--help`: a description that does not fit beside its flag is placed below it. */
import { Help } from 'commander';

/** A column narrower than this is hard to read. */
const narrowest = 40;
const ownLine = '\n      ';

export const helpLayout: Partial<Help> = {
  formatItem(term, termWidth, description, helper) {
    const width = helper.helpWidth ?? 80;
    // Commander adds two characters before the term, and two after it.
    if (width - termWidth - 4 >= narrowest) return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
    return `  ${term}${ownLine}${helper.boxWrap(description, width - ownLine.length).replaceAll('\n', ownLine)}`;
  },
};
