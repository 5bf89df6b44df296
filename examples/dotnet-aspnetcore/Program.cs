using System;
using System.Diagnostics;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

static class Program
{
    static void Main()
    {
        Host.CreateDefaultBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://127.0.0.1:" + Environment.GetEnvironmentVariable("PORT"))
                .Configure(Configure))
            .Build()
            .Run();
    }

    static void Configure(IApplicationBuilder app)
    {
        if (Environment.GetEnvironmentVariable("LAYER") == "1") app.Use(Time);
        app.Run(context =>
        {
            context.Response.ContentType = "text/plain";
            context.Response.ContentLength = 5;
            return context.Response.WriteAsync("hello");
        });
    }

    // The layer: tells in a header how long a request took until its response began.
    static RequestDelegate Time(RequestDelegate next) => context =>
    {
        var watch = Stopwatch.StartNew();
        context.Response.OnStarting(() =>
        {
            context.Response.Headers["Server-Timing"] = $"app;dur={watch.Elapsed.TotalMilliseconds:F3}";
            return System.Threading.Tasks.Task.CompletedTask;
        });
        return next(context);
    };
}
