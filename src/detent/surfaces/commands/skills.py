"""`/skills`: the skills that lie here. None of them is read by the model."""

from detent.sdk.not_read import skills_of
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.tables.widths import one_line

NOT_YET = "Skills are not part of this version: the model is not told of them."


async def run(session: Session, rest: str, hear: Hear) -> str:
    found = await skills_of(session)
    lines = [NOT_YET, "Skills that lie here:" if found else "No skills lie here."]
    for skill in found:
        lines.append(one_line(f"  {skill.name}  {skill.about}").rstrip())
        lines.append(one_line(f"      {skill.path} ({skill.level})"))
    return "\n".join(lines)
