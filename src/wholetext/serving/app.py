"""The pages and the JSON interface, as a Starlette application."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from anyio import move_on_after
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from wholetext.errors import RunError, WholetextError, WriteError
from wholetext.files.parsing import printable
from wholetext.serving.access import COOKIE, HEALTH, Guard, Refused, problem, signed_in
from wholetext.serving.batches import Batches
from wholetext.serving.intake import (
    TEXTS,
    form_files,
    form_request,
    json_request,
    listed_files,
    offered_metrics,
    read_body,
    read_form,
    score_fields,
    texts_request,
)
from wholetext.serving.jobs import Job, Jobs
from wholetext.serving.preview import PREVIEWED, preview
from wholetext.serving.scheduler import Scheduler
from wholetext.serving.settings import ServeOptions

DRAINING = 10.0  # seconds for the rest of an upload that cannot be stored
POLLING = 0.1  # seconds between looks at a job whose client is waiting
BRAND = b'<p class="brand">wholetext</p>'  # of a report
BACK = (BRAND, BRAND + b'<a class="back" href="/">\xe2\x86\x90 Jobs</a>')
# folders of assets: nothing in them is secret
PACKAGES: list[str | tuple[str, str]] = [
    ("wholetext.serving", "assets"),
    ("wholetext.reporting", "assets"),
]


def make_app(jobs: Jobs, scheduler: Scheduler, options: ServeOptions) -> Guard:
    """The application over a job queue; it starts and ends the scheduler."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        scheduler.start()
        api.batches.start()
        try:
            yield
        finally:
            await run_in_threadpool(api.batches.close)
            await run_in_threadpool(scheduler.close)
            jobs.close()

    api = Api(jobs, scheduler, options)
    routes = [
        Route("/v1/score", api.score, methods=["POST"]),  # the one that is called often
        Route(HEALTH, api.health),
        Route("/", api.page),
        Route("/login", api.login, methods=["GET", "POST"]),
        Mount("/assets", StaticFiles(packages=PACKAGES)),
        Route("/v1/metrics", api.metrics),
        Route("/v1/preview", api.preview, methods=["POST"]),
        Route("/v1/jobs", api.list_jobs, methods=["GET"]),
        Route("/v1/jobs", api.add_job, methods=["POST"]),
        Route("/v1/jobs/{id}", api.show_job, methods=["GET"]),
        Route("/v1/jobs/{id}", api.remove_job, methods=["DELETE"]),
        Route("/v1/jobs/{id}/results", api.results),
        Route("/v1/jobs/{id}/run.zip", api.folder),
        Route("/v1/jobs/{id}/report", api.report),
    ]
    kinds = (WholetextError, HTTPException, ClientDisconnect, OSError, Exception)
    faults: Mapping[Any, Any] = dict.fromkeys(kinds, _fault)
    return Guard(Starlette(routes=routes, lifespan=lifespan, exception_handlers=faults), options)


async def _fault(request: Request, fault: Exception) -> Response:
    """An error as JSON, without paths of the server."""
    if isinstance(fault, HTTPException):
        step = (
            "`GET /v1/jobs` lists the jobs and their states; `wholetext help serve` the addresses"
        )
        return problem(fault.status_code, fault.detail, step)
    if isinstance(fault, OSError):
        fault = RunError(
            f"the server cannot store the request ({fault.strerror or type(fault).__name__})",
            next="free space on its disk, then send the request again",
        )
    if not isinstance(fault, WholetextError):
        what = f"wholetext failed unexpectedly ({type(fault).__name__})"
        return problem(500, what, "see the server's log, and report it")
    status = getattr(fault, "status", 400)
    if isinstance(fault, (RunError, WriteError)):
        status = 507
        # the rest of the upload is read: a client that is still sending would see no answer
        with move_on_after(DRAINING), suppress(ClientDisconnect, RuntimeError):  # read already
            async for _ in request.stream():
                pass
    what = f"{fault.where}: {fault.what}" if fault.where and status != 507 else fault.what
    closing = {"connection": "close"} if status != 400 else None
    return problem(status, printable(what, keep="\n"), printable(fault.next, keep="\n"), closing)


class Api:
    """The routes of the web application."""

    def __init__(self, jobs: Jobs, scheduler: Scheduler, options: ServeOptions) -> None:
        self.jobs, self.scheduler, self.options = jobs, scheduler, options
        self.batches = Batches(options)

    # -------------------------------------------------------- pages

    async def health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def page(self, _: Request) -> Response:
        return _page("app.html")

    async def login(self, request: Request) -> Response:
        if request.method == "GET":
            return _page("login.html")
        if not signed_in(request.scope, self.options):
            return problem(
                401, "this is not the token of the server", "the person who started it knows it"
            )
        answer = JSONResponse({})  # with a cookie that scripts and other sites cannot use
        answer.set_cookie(
            COOKIE,
            self.options.cookie,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    # -------------------------------------------------------- listings

    async def metrics(self, _: Request) -> Response:
        """Metrics and files that a request may name, and the size limit."""
        offered = await run_in_threadpool(offered_metrics)
        return JSONResponse(
            {**offered, "files": listed_files(self.jobs.folder), "upload": self.options.upload}
        )

    async def list_jobs(self, _: Request) -> Response:
        return JSONResponse(
            {"jobs": [_plain(job) for job in self.jobs.all() if job.request.get("keep", True)]}
        )

    async def show_job(self, request: Request) -> Response:
        return JSONResponse(_plain(self._job(request)))

    def _job(self, request: Request, done: bool = False) -> Job:
        job = self.jobs.get(request.path_params["id"])
        if job is None:
            raise HTTPException(404, "there is no such job")
        if done and job.state != "done":
            raise HTTPException(409, f"the job is {job.state}")
        return job

    # -------------------------------------------------------- new jobs

    async def preview(self, request: Request) -> Response:
        """What the reader makes of the files of a form; they are not kept."""
        place = self.jobs.place(self.jobs.new_id())
        try:
            form = await read_form(request, place / "input", PREVIEWED)
            files = await run_in_threadpool(form_files, form, self.jobs.folder)
            texts = {"files": files, "langs": str(form.get("langs") or "")}
            return JSONResponse(await run_in_threadpool(preview, texts, self.jobs.folder))
        finally:
            await run_in_threadpool(shutil.rmtree, place, ignore_errors=True)

    async def add_job(self, request: Request) -> Response:
        """Queue a job from a form with files and choices."""
        with self._new_job() as id:
            form = await read_form(request, self.jobs.place(id) / "input", self.options.upload)
            parsed = await run_in_threadpool(form_request, form, self.jobs.folder, self.options)
            job = self.jobs.add(id, *parsed)
        return JSONResponse(_plain(job), 202)

    async def score(self, request: Request) -> Response:
        """Score documents sent as JSON; the response is that of `wholetext score -f json`.

        Texts of their own are scored at once, together with those of other requests.
        """
        body = await read_body(request, self.options.upload)
        small = len(body) <= TEXTS
        fields = score_fields(body) if small else await run_in_threadpool(score_fields, body)
        if "texts" in fields:
            answer = await self.batches.answer(texts_request(fields, self.options), len(body))
            return Response(answer, media_type="application/json")
        with self._new_job() as id:
            place = self.jobs.place(id)
            parsed = await run_in_threadpool(json_request, fields, place / "input", self.options)
            self.jobs.add(id, "/v1/score", {**parsed, "keep": False})
        try:
            while self.jobs.active(id) and not await request.is_disconnected():
                await asyncio.sleep(POLLING)
            job = self.jobs.get(id)
            if job is None or job.state != "done":
                error = job.error if job and job.error else "the job was cancelled"
                what, _, step = error.partition("\n  → ")
                raise Refused(422, what, step)
            scores = (place / "result" / "results.json").read_bytes()
            return Response(scores, media_type="application/json")
        finally:
            await run_in_threadpool(self.jobs.delete, id)

    @contextmanager
    def _new_job(self) -> Iterator[str]:
        """Make the folder of a job, which the body adds to the queue; remove it if that fails."""
        jobs, waiting, kept = self.jobs.all(), self.options.waiting, self.options.kept
        if sum(job.state == "waiting" for job in jobs) >= waiting or len(jobs) >= kept:
            raise Refused(
                429,
                f"this server lets {waiting} jobs wait and keeps {kept}, and has as many already",
                "try again when some are done, or delete old ones",
            )
        id = self.jobs.new_id()
        try:
            yield id
        except BaseException:
            shutil.rmtree(self.jobs.place(id), ignore_errors=True)
            raise
        self.scheduler.wake()

    async def remove_job(self, request: Request) -> Response:
        """Cancel a job that is waiting or running; remove one that has ended, with its files."""
        job = self._job(request)
        if job.active:
            self.jobs.finish(job.id, "cancelled")
            return JSONResponse(_plain(self._job(request)))
        await run_in_threadpool(self.jobs.delete, job.id)
        return Response(status_code=204)

    # -------------------------------------------------------- results

    async def results(self, request: Request) -> Response:
        return FileResponse(self._result(request, "results.json"), media_type="application/json")

    async def folder(self, request: Request) -> Response:
        name = f"run-{request.path_params['id'][:8]}.zip"
        return FileResponse(self._result(request, "run.zip"), filename=name)

    async def report(self, request: Request) -> Response:
        """The report, with a link back here, under a policy without access to this server."""
        page = await run_in_threadpool(self._result(request, "run/report.html").read_bytes)
        policy = "frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
        headers = {"content-security-policy": policy}
        return Response(page.replace(*BACK, 1), headers=headers, media_type="text/html")

    def _result(self, request: Request, name: str) -> Path:
        return self.jobs.place(self._job(request, done=True).id) / "result" / name


def _page(name: str) -> Response:
    return FileResponse(Path(__file__).parent / "assets" / name)


def _plain(job: Job) -> dict[str, Any]:
    """A job as JSON values."""
    stage = dict(zip(("stage", "done", "of"), job.progress)) if job.progress else None
    return {
        "id": job.id,
        "title": job.title,
        "state": job.state,
        "metrics": job.request.get("metrics", []),
        "created": job.created,
        "progress": stage,
        "error": job.error,
    }
